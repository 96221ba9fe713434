//! Reads the names of a stack's services out of a type name.

/// One type of a type name: its path, and its parameters if it has any.
#[derive(Clone, Copy)]
struct Type<'a> {
    path: &'a str,
    parameters: &'a str,
}

/// What a type means to the onion.
enum Shape<'a> {
    /// It wraps the service of this type.
    Layer(&'a str),
    /// It is this type, by another name.
    Transparent(&'a str),
    /// It is one of two stacks.
    Either(&'a str, &'a str),
    /// It is the service itself.
    Leaf,
}

/// Crates whose types are what services work with, and never services.
const DATA: [&str; 12] = [
    "alloc",
    "bytes",
    "core",
    "http",
    "http_body",
    "http_body_util",
    "hyper",
    "serde_json",
    "std",
    "tokio",
    "tokio_util",
    "tower_agent_core",
];

/// Layers of tower whose service is their second parameter.
const SECOND: [&str; 2] = ["buffer", "retry"];

/// The names of all services that a type name is made of, outermost first; never empty.
pub(super) fn names(type_name: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut rest = type_name;
    loop {
        let here = Type::parse(rest);
        match here.shape() {
            Shape::Layer(inner) => {
                let name = here.name();
                names.push(name.strip_suffix("_service").unwrap_or(&name).to_owned());
                rest = inner;
            }
            Shape::Transparent(inner) => rest = inner,
            Shape::Either(one, other) => {
                names.extend(either(&self::names(one), &self::names(other)));
                return names;
            }
            Shape::Leaf => {
                names.push(here.name());
                return names;
            }
        }
    }
}

/// A layer that is optional makes two stacks of which one is the end of the other.
fn either(one: &[String], other: &[String]) -> Vec<String> {
    match one.strip_suffix(other) {
        Some(optional) => {
            optional.iter().map(|name| format!("{name}?")).chain(other.iter().cloned()).collect()
        }
        None => vec![format!("either({} | {})", one.join(" > "), other.join(" > "))],
    }
}

impl<'a> Type<'a> {
    fn parse(text: &'a str) -> Self {
        let text = text.trim().trim_start_matches(['&', ' ']).trim_start_matches("mut ");
        match text.strip_suffix('>').and_then(|text| text.split_at_checked(opening(text)?)) {
            Some((path, parameters)) => {
                Self { path, parameters: parameters.strip_prefix('<').unwrap_or_default() }
            }
            None => Self { path: text, parameters: "" },
        }
    }

    fn segments(self) -> impl DoubleEndedIterator<Item = &'a str> {
        split(self.path, "::").into_iter()
    }

    fn krate(self) -> &'a str {
        self.segments().next().unwrap_or_default()
    }

    fn last(self) -> &'a str {
        self.segments().next_back().unwrap_or_default()
    }

    fn parameters(self) -> Vec<&'a str> {
        split(self.parameters, ",")
    }

    fn parameter(self, position: usize) -> Option<&'a str> {
        self.parameters().get(position).copied()
    }

    /// The last word of the path as `snake_case`. A future has the name of what makes it.
    fn name(self) -> String {
        if self.path.starts_with("dyn ") {
            return "boxed".to_owned();
        }
        let word = self.last();
        let word = word.strip_suffix("Future").unwrap_or(word);
        let modules = self.segments().rev().skip(1);
        let word = match word {
            "" | "Response" => {
                modules.into_iter().find(|module| *module != "future").unwrap_or(word)
            }
            word => word,
        };
        let name = match (self.krate(), word) {
            ("tower", "concurrency" | "rate") => format!("{word}_limit"),
            _ => snake_case(word),
        };
        if name.is_empty() { "service".to_owned() } else { name }
    }

    fn shape(self) -> Shape<'a> {
        let name = self.name();
        let first = self.parameter(0);
        let second = self.parameter(1);
        match (self.krate(), name.as_str(), first, second) {
            ("alloc", "box", Some(inner), _)
            | ("core", "pin", Some(inner), _)
            | ("tower_agent", "tool", Some(inner), _)
            | ("tower", "oneshot", Some(inner), _) => Shape::Transparent(inner),
            ("tower", "either", Some(one), Some(other)) => Shape::Either(one, other),
            ("tower", "service_fn", ..) | ("tower_agent", "agent", ..) => Shape::Leaf,
            ("tower", name, ..) if name.starts_with("box") => Shape::Leaf,
            ("tower", name, _, Some(inner)) if SECOND.contains(&name) => Shape::Layer(inner),
            _ => self.first_service().map_or(Shape::Leaf, Shape::Layer),
        }
    }

    /// The first parameter that could be a service. A future holds that of the service, whatever it is.
    fn first_service(self) -> Option<&'a str> {
        let first = self.parameters().into_iter().find(|inner| Type::parse(inner).may_be_service());
        first.or_else(|| self.parameter(0).filter(|_| self.last().ends_with("Future")))
    }

    fn may_be_service(self) -> bool {
        let transparent = matches!(self.shape_by_name(), ("alloc", "Box") | ("core", "Pin"));
        let named = self.path.contains("::") && self.last().starts_with(char::is_uppercase);
        let plain = !self.path.contains(['(', '[', ' ']);
        transparent || (named && plain && !DATA.contains(&self.krate()))
    }

    fn shape_by_name(self) -> (&'a str, &'a str) {
        (self.krate(), self.last())
    }
}

/// Where the parameters begin whose closing bracket was just cut off.
fn opening(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut bytes = text.bytes().enumerate().rev().peekable();
    while let Some((position, byte)) = bytes.next() {
        match byte {
            b'>' if bytes.peek().is_some_and(|(_, before)| *before == b'-') => {}
            b'>' => depth += 1,
            b'<' if depth == 0 => return Some(position),
            b'<' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Splits at a separator where it stands outside all brackets.
fn split<'a>(text: &'a str, separator: &str) -> Vec<&'a str> {
    let mut pieces = Vec::new();
    let (mut depth, mut start, mut before) = (0_usize, 0, ' ');
    for (position, char) in text.char_indices() {
        match char {
            '<' | '(' | '[' | '{' => depth += 1,
            '>' if before == '-' => {}
            '>' | ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        before = char;
        let here = text.get(position..).unwrap_or_default();
        if depth == 0 && position >= start && here.starts_with(separator) {
            pieces.extend(text.get(start..position));
            start = position + separator.len();
        }
    }
    pieces.extend(text.get(start..).filter(|piece| !piece.is_empty()));
    pieces
}

fn snake_case(word: &str) -> String {
    let mut name = String::with_capacity(word.len() + 4);
    for char in word.chars().filter(|char| char.is_alphanumeric() || *char == '_') {
        if char.is_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.extend(char.to_lowercase());
    }
    name
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::names;

    #[test]
    fn a_future_has_the_name_of_the_layer_that_makes_it() {
        let type_name = "tower::buffer::service::Buffer<tower_agent_core::tool::call::ToolCall, \
            tower::limit::concurrency::future::ResponseFuture<tower::util::map_response::MapResponseFuture<\
            app::main::{{closure}}::{{closure}}, app::main::{{closure}}>>>";
        assert_eq!(names(type_name), ["buffer", "concurrency_limit", "map_response", "closure"]);
    }

    #[test]
    fn closures_functions_tuples_and_data_are_no_services() {
        for type_name in [
            "app::Tool<app::main<app::Inner>::{{closure}}>",
            "app::Tool<app::handler>",
            "app::Tool<fn(app::A, app::B) -> app::C<u8>>",
            "app::Tool<(app::A, app::B)>",
            "app::Tool<[app::A; 3]>",
            "app::Tool<dyn app::A<B = app::C> + core::marker::Send>",
            "app::Tool<tower_agent_core::tool::call::ToolCall>",
            "app::Tool<u8>",
            "&mut app::Tool",
        ] {
            assert_eq!(names(type_name), ["tool"], "{type_name}");
        }
    }

    #[test]
    fn the_arrow_of_a_function_is_no_bracket() {
        let type_name = "app::Map<fn(u8) -> app::Result<u8>, app::HttpClient<app::Pool>>";
        assert_eq!(names(type_name), ["map", "http_client", "pool"]);
    }

    #[test]
    fn an_agent_is_a_service_and_a_tool_is_its_function() {
        let agent =
            "tower_agent::plugin::PluginService<tower_agent::agent::Agent<app::Model>, app::P>";
        assert_eq!(names(agent), ["plugin", "agent"]);
        assert_eq!(names("tower_agent::tool::single::Tool<app::Clock>"), ["clock"]);
    }

    #[test]
    fn a_box_is_looked_through_and_a_trait_object_is_not() {
        assert_eq!(names("alloc::boxed::Box<app::Layer<app::Leaf>>"), ["layer", "leaf"]);
        assert_eq!(names("app::Layer<alloc::boxed::Box<dyn app::Trait>>"), ["layer", "boxed"]);
    }

    proptest! {
        #[test]
        fn any_text_has_a_name(text in "[a-zA-Z:<>(){}\\[\\],&\\- ]{0,60}|\\PC{0,40}") {
            prop_assert!(!names(&text).is_empty());
            prop_assert!(names(&text).iter().all(|name| !name.is_empty()));
        }
    }
}
