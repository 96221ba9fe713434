fn main() {
    let d = tower_agent_detect::Detector::builtin();
    for l in std::io::stdin().lines() {
        let l = l.unwrap();
        println!("{}   <= {l}", d.mask(&l));
    }
}
