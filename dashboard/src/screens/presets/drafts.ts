/**
 * A draft that somebody has not saved, kept in this browser by person, preset and base version. Each tab keeps its own as well, since two
 * tabs may write drafts of the same preset: a tab goes on with what was written in it, and a new tab with what was written last.
 */
import type { PresetContent } from '../../diff/content-diff.tsx'
import { forgetValue, keepValue, readKept } from '../../kept-values.ts'
import { storeWhatFits } from '../../store-what-fits.ts'

const nameOf = (user: string, slug: string, base: number): string => `patchbay.draft.${user}.${slug}.${base}`

export interface DraftContent extends PresetContent {
  /** The newest version that this person had seen. Left out in drafts of an earlier Patchbay. */
  readonly seen?: number
}

export const readDraft = (user: string, slug: string, base: number): DraftContent | null => {
  const name = nameOf(user, slug, base)
  const kept = localStorage.getItem(name)
  return (readKept(name) as DraftContent | undefined) ?? (kept === null ? null : (JSON.parse(kept) as DraftContent))
}

/** Returns false if the browser has no room for the draft beyond this tab. */
export const keepDraft = (user: string, slug: string, base: number, content: DraftContent): boolean => {
  const name = nameOf(user, slug, base)
  keepValue(name, content)
  if (storeWhatFits(localStorage, name, JSON.stringify(content))) return true
  // Otherwise an older text would be restored in place of this one.
  localStorage.removeItem(name)
  return false
}

/** `content`: the draft as this tab has it. The draft that another tab has written since stays. */
export const deleteDraft = (user: string, slug: string, base: number, content: DraftContent): void => {
  const name = nameOf(user, slug, base)
  forgetValue(name)
  if (localStorage.getItem(name) === JSON.stringify(content)) localStorage.removeItem(name)
}
