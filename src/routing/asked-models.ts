/** Resolves the model names of a request. */
import type { Call } from '../canonical/call.ts'
import type { RoutingLocks } from '../canonical/routing-locks.ts'
import type { Warning } from '../canonical/warning.ts'
import type { Models } from '../models/models.ts'
import { autoModels, autoStrategy } from './auto-models.ts'
import type { AskedModel, Variant } from './candidate.ts'
import { passedOver, shown, UNKNOWN_MODEL, unknownModels, type Removed } from './explain.ts'
import { withinLocks } from './heed-locks.ts'
import { PLAIN, resolveModel } from './resolve-model.ts'

/** How the models of a request were found (docs/contract/debugging.md#routing-metadata). */
export type Strategy = 'direct' | 'fallback' | 'auto' | 'free' | 'latest'

export interface AskedModels {
  /** In the order of the request, each model once. */
  readonly asked: readonly AskedModel[]
  readonly unknown: readonly Removed[]
  /** One for each unknown name, with the field that contains it. */
  readonly warnings: readonly Warning[]
  readonly strategy: Strategy
  /** True if the conversation stays with the first model, whatever endpoint is remembered for it. */
  readonly isPinned: boolean
  /** Fields with a name whose variant is ignored because of a lock of the preset. */
  readonly held: readonly string[]
}

interface Asking {
  readonly call: Call
  readonly models: Models
  readonly locks?: RoutingLocks | null
}

/** Throws `not_found` if every name is unknown. */
export const askedModels = ({ call, models, locks = null }: Asking): AskedModels => {
  const asked = new Map<string, AskedModel>()
  const unknown: Removed[] = []
  const warnings: Warning[] = []
  const held = new Set<string>()
  let isPinned = false
  let strategy: Strategy = call.models.length > 1 ? 'fallback' : 'direct'
  for (const name of call.models) {
    const auto = autoStrategy(name)
    if (auto !== null) {
      strategy = auto
      const picked = autoModels(name, auto, call, models)
      isPinned ||= picked.pinned !== undefined
      // A model that costs nothing at one provider may cost something at the others.
      const variant = auto === 'free' ? { ...PLAIN, free: true } : PLAIN
      for (const model of picked.models) if (!asked.has(model.id)) asked.set(model.id, { model, variant })
      continue
    }
    const found = resolveModel(name, models)
    if (found === undefined) {
      unknown.push({ model: shown(name), provider: '*', reason: UNKNOWN_MODEL })
      warnings.push(passedOver(name, fieldNaming(name, call)))
    } else if (!asked.has(found.model.id)) {
      const allowed = withinLocks(name, found, locks)
      if (!sameVariant(found.variant, allowed.variant)) held.add(fieldNaming(name, call))
      asked.set(found.model.id, allowed)
    }
    if (strategy === 'direct' && name.startsWith('~')) strategy = 'latest'
  }
  if (unknown.length > 0 && unknown.length === call.models.length) throw unknownModels(call.models, models)
  return { asked: [...asked.values()], unknown, warnings, strategy, isPinned, held: [...held] }
}

const sameVariant = (one: Variant, other: Variant): boolean => one === other || JSON.stringify(one) === JSON.stringify(other)

const fieldNaming = (name: string, { body }: Call): string => {
  if (body.value('model') === name) return 'model'
  return body.value('models') === undefined ? 'fallbacks' : 'models'
}
