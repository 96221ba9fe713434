//! Finds the places of a text where a rule may have something to say.
