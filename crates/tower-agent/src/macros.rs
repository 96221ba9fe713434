/// The accessors that every service with an `inner` field has.
#[allow(unused_macros, reason = "which features use it depends on the build")]
macro_rules! inner_accessors {
    () => {
        /// The service inside.
        pub fn get_ref(&self) -> &S {
            &self.inner
        }

        /// The service inside, for a change.
        pub fn get_mut(&mut self) -> &mut S {
            &mut self.inner
        }

        /// Takes the layer off.
        pub fn into_inner(self) -> S {
            self.inner
        }
    };
}
