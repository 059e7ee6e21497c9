/** Makes a value when it is first asked for. */
export const once = <Value>(make: () => Value): (() => Value) => {
  let made: { readonly value: Value } | null = null
  return () => (made ??= { value: make() }).value
}
