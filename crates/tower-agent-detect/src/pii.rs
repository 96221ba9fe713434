//! Personal data: addresses, numbers with check digits, and the like.
