/** A choice that this browser keeps. A change in one tab is followed by the others. */
import { createStore, type Store } from './store.ts'

/** One of `options`; the first until somebody chooses. */
export const createChoiceOf = <const Option extends string>(name: string, options: readonly [Option, ...Option[]]): Store<Option> =>
  createChoice<Option>(name, (kept) => options.find((one) => one === kept) ?? options[0], String)

/** `read` makes the value from the kept text, which is null until somebody chooses; `write` makes the text. */
export const createChoice = <Value>(name: string, read: (kept: string | null) => Value, write: (value: Value) => string): Store<Value> => {
  const keptValue = (): Value => read(localStorage.getItem(name))
  const store = createStore(keptValue())
  // Browsers send this event to the other tabs only; without a key, everything was cleared.
  window.addEventListener('storage', ({ key }) => {
    if (key === name || key === null) store.set(keptValue())
  })
  return {
    ...store,
    set(value) {
      localStorage.setItem(name, write(value))
      store.set(value)
    },
  }
}
