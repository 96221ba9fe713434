//! How often mixed text has a window.

use super::class::Window;

/// How often two classes follow each other in source, prose, configuration and logs: `a` is once in a million bytes or
/// less, and each letter is 1.6 times as often as the one before it.
const PAIRS: [&[u8; 32]; 32] = [
    b"xppppppjkkiijjkjkdmmpljisdptvstr",
    b"plprqmmsipgnsqsfresrtnnmmoipqklm",
    b"ppkmkpkhbpkfpilohamlipfabocqpnjk",
    b"pqmnkrmfqodpplhtlgpmrnifhkaoommp",
    b"ppllosllipejnihpiemokmifilasqloq",
    b"qrortopnjlhirqtnooutrnqnqohurorq",
    b"ppkllpolarafnknqhbollnbdejaqojmm",
    b"jlfkdthpmpaclinnfemnkldedheqpkmn",
    b"krifjsfccpbfglgqealkppahamapmjmm",
    b"konqpoppdgckrrurohnrsgocncpmljkl",
    b"ckcfclcaajadccjjcaajcidbaaaggfeg",
    b"jkgjiqhfdmbdgejihbhmhieeaeannkln",
    b"krjlosojfsbmriirkbhopojifofrpkmo",
    b"krmjltfjepadomgqqeinkohccjbppjlo",
    b"mqiqrrorhpgmmjnqldistqmkflgsqmno",
    b"ilmppkpphnjmortnpasqpqnpkgpqnllo",
    b"mrgilqigmnalphfqoeqrprjfbmbnnkmo",
    b"gabfeeaaadaafefacdhcapecaacmkfgh",
    b"msjnotkohsbopnprkdpqqpnkhqdsqloo",
    b"nqjnjtjjrrcmomnopjlrtpjjfngtrmqp",
    b"qrinotlitsagmlirpaspqpjknqhuropq",
    b"pmromqmncpabqpqhparsrdecpafmigii",
    b"npchdrgicoaagiemmacgffbaiadklhkl",
    b"hodgeneenpabhcnodbomgdbjdbammkkk",
    b"smnmlolagkadfichmbdgoibegfbqnlln",
    b"liihejgegjacjnmmpbinneihgaerpklo",
    b"gjadgpcbcpaaedcjaceeaeaaahfpiegg",
    b"utrtrssorsmnssqrsnrttsprqmlzvsuo",
    b"uooroonopojknonnplppoomnpiiwunqj",
    b"rkmlkkkijkefnjjjkgmlkjkkfcgsqppc",
    b"sllnllliilhijkmkphlmmkjkggfvqksh",
    b"ppopnoomlpjmooonpioqqqmljhijkcio",
];

/// How often a window is expected in a million bytes.
pub(super) fn window(window: Window) -> f32 {
    let [first, second, third] = [window & 31, window >> 5 & 31, window >> 10 & 31];
    let before = pair(first, second);
    let after = pair(second, third);
    let single = (0..32).map(|any| pair(second, any)).sum::<f32>();
    before * after / single.max(1.0)
}

fn pair(first: u16, second: u16) -> f32 {
    let level = PAIRS.get(usize::from(first)).and_then(|pairs| pairs.get(usize::from(second)));
    (f32::from(level.copied().unwrap_or(b'a') - b'a') / 1.5).exp2()
}
