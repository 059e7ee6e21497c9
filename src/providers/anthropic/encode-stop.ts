import type { ModelContext } from './encode-context.ts'

/** The sequences that end an answer: the dialect refuses one without a visible character. */
export const seenStops = (context: ModelContext): readonly string[] | undefined => {
  const stop = context.setting('stop')
  const kept = stop?.filter((sequence) => sequence.trim() !== '')
  if (stop !== undefined && kept?.length !== stop.length)
    context.lose(context.fieldOf('stop'), `${context.target.providerName} takes no stop sequence of white space alone; it was left out.`)
  return kept === undefined || kept.length === 0 ? undefined : kept
}
