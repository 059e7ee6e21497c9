/** Makes the value on the first call, and returns the same value afterwards. */
export const once = <Value>(make: () => Value): (() => Value) => {
  let made: { readonly value: Value } | null = null
  return () => (made ??= { value: make() }).value
}
