/** A draft that somebody has not saved, kept in this browser by person, preset and base version. */
import type { PresetContent } from '../../diff/content-diff.tsx'
import { storeWhatFits } from '../../store-what-fits.ts'

const nameOf = (user: string, slug: string, base: number): string => `patchbay.draft.${user}.${slug}.${base}`

export const readDraft = (user: string, slug: string, base: number): PresetContent | null => {
  const kept = localStorage.getItem(nameOf(user, slug, base))
  return kept === null ? null : (JSON.parse(kept) as PresetContent)
}

/** Null deletes the draft. Returns false if the browser has no room for it. */
export const keepDraft = (user: string, slug: string, base: number, content: PresetContent | null): boolean => {
  const name = nameOf(user, slug, base)
  if (content === null) localStorage.removeItem(name)
  else if (!storeWhatFits(localStorage, name, JSON.stringify(content))) {
    // Otherwise an older text would be restored in place of this one.
    localStorage.removeItem(name)
    return false
  }
  return true
}
