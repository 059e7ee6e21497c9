/** Reports the members of Claude's shell that have no place in the function which other models get for it. */
import type { JsonObject, JsonValue } from '../../lib/json/json.ts'
import type { Losses } from '../losses/losses.ts'

/** `at`: the client's path of the tool. */
export const loseOfBash = (declared: JsonObject, at: string, { lose }: Pick<Losses, 'lose'>): void => {
  for (const [name, value] of Object.entries(declared))
    if (!CARRIED.has(name) && !isDefault(value))
      lose(`${at}.${name}`, `The shell was sent as a function, which has no ${name}; it was left out.`)
}

const CARRIED: ReadonlySet<string> = new Set(['type', 'name', 'cache_control'])

/** Every model may call a function directly. */
const isDefault = (value: JsonValue): boolean =>
  value === null || value === false || (Array.isArray(value) && value.every((one) => one === 'direct'))
