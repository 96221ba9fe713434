//! Reading the cases.

use std::{cell::RefCell, collections::BTreeSet, path::Path};

use serde_json::{Map, Value};

/// One case, its macros expanded.
pub(crate) struct Case {
    pub(crate) input: Value,
    pub(crate) expected: Expected,
}

/// What should come out. It notes which fields a test looked at, so that none is passed over.
pub(crate) struct Expected {
    fields: Map<String, Value>,
    seen: RefCell<BTreeSet<String>>,
}

/// All cases, or nothing where nobody said where they are.
pub(crate) fn all() -> Option<Vec<Value>> {
    let folder = std::env::var_os("TOWER_AGENT_SHARED")?;
    let file = Path::new(&folder).join("cases/public-cases.jsonl");
    let text = std::fs::read_to_string(&file)
        .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

impl Case {
    pub(crate) fn find(id: &str) -> Option<Self> {
        let case = all()?.into_iter().find(|case| case["id"] == id);
        let case = case.unwrap_or_else(|| panic!("there is no case {id}"));
        let Value::Object(mut fields) = expand(case["expected"].clone()) else {
            panic!("{id} expects nothing")
        };
        fields.remove("note");
        let expected = Expected { fields, seen: RefCell::default() };
        Some(Self { input: expand(case["input"].clone()), expected })
    }
}

impl Expected {
    /// A field, if the case has it.
    pub(crate) fn get(&self, field: &str) -> Option<&Value> {
        self.seen.borrow_mut().insert(field.to_owned());
        self.fields.get(field)
    }

    /// A field that the case must have.
    pub(crate) fn field(&self, field: &str) -> &Value {
        self.get(field).unwrap_or_else(|| panic!("the case expects no {field}"))
    }

    /// The entries of a list, which may be absent.
    pub(crate) fn list(&self, field: &str) -> &[Value] {
        self.get(field).map_or(&[], |list| list.as_array().unwrap())
    }

    /// The texts of a list, which may be absent.
    pub(crate) fn texts(&self, field: &str) -> Vec<&str> {
        self.list(field).iter().map(|text| text.as_str().unwrap()).collect()
    }

    pub(crate) fn assert_all_looked_at(&self) {
        let seen = self.seen.borrow();
        let missed: Vec<_> = self.fields.keys().filter(|field| !seen.contains(*field)).collect();
        assert!(missed.is_empty(), "the test does not look at {missed:?}");
    }
}

/// `{"join": [..]}` puts parts together and `{"repeat": [text, n]}` repeats one, so that the file holds no
/// text that looks like a secret.
fn expand(value: Value) -> Value {
    match value {
        Value::Object(fields) if fields.len() == 1 && fields.contains_key("join") => {
            let parts = fields["join"].as_array().unwrap().iter();
            let parts = parts.map(|part| expand(part.clone()).as_str().unwrap().to_owned());
            Value::String(parts.collect())
        }
        Value::Object(fields) if fields.len() == 1 && fields.contains_key("repeat") => {
            let times = usize::try_from(fields["repeat"][1].as_u64().unwrap()).unwrap();
            Value::String(fields["repeat"][0].as_str().unwrap().repeat(times))
        }
        Value::Object(fields) => {
            fields.into_iter().map(|(key, value)| (key, expand(value))).collect()
        }
        Value::Array(list) => list.into_iter().map(expand).collect(),
        other => other,
    }
}
