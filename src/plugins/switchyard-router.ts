/** `switchyard-router`: chooses which of the request's own models is called first. */
import { cannotRun, type Plugin } from './plugin.ts'

/** The algorithm used if the plugin is given without one. */
const DEFAULT_ALGORITHM = 'capability'

export const switchyardRouter = (random: () => number): Plugin => ({
  step: 'routing',
  check(options) {
    const algorithm = algorithmOf(options['algorithm'])
    if (algorithm === 'random' || algorithm === 'passthrough') return
    throw cannotRun('switchyard-router', `its algorithm "${algorithm}" is not available; "random" and "passthrough" are.`)
  },
  choose({ models }, options) {
    if (algorithmOf(options['algorithm']) !== 'random' || models.length < 2) return null
    const first = Math.floor(random() * models.length)
    return [...models.slice(first, first + 1), ...models.slice(0, first), ...models.slice(first + 1)]
  },
})

const algorithmOf = (value: unknown): string => (typeof value === 'string' ? value : DEFAULT_ALGORITHM)
