/** The draft of a preset: the contents of its base version until somebody edits it. */
import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'

import type { PresetVersion } from '../../api/presets.ts'
import { currentSession } from '../../api/session.ts'
import { toast } from '../../shell/toasts.tsx'
import { createStore, useStore } from '../../store.ts'
import { contentOf, sameContent } from './content-of.ts'
import { deleteDraft, type DraftContent, keepDraft, readDraft } from './drafts.ts'

export interface Draft {
  readonly content: DraftContent
  readonly isChanged: boolean
  change(content: DraftContent): void
  /** Resets the draft to the contents of the version, and offers it back. */
  discard(): void
  /** The content was saved as this version, which is shown once `show` resolves: what was written since becomes a draft of it. */
  saved(as: number, show: () => Promise<void>): Promise<void>
}

/** `seen`: the newest version that is shown, of which a draft that begins now knows. */
export const useDraft = (slug: string, base: PresetVersion, seen: number): Draft => {
  const session = useQuery(currentSession)
  const user = session.data?.user_id ?? ''
  const of = `${user} ${base.id} ${useStore(timesPutBack)}`
  const [state, setState] = useState<{ of: string; content: DraftContent | null; isKept: boolean }>({
    of: '',
    content: null,
    isKept: true,
  })
  // A draft of another version is read from where it is kept, since it may have been saved meanwhile.
  if (state.of !== of && state.content !== null) setState({ of: '', content: null, isKept: true })
  const kept = state.of === of ? state.content : readDraft(user, slug, base.version)
  const content = kept ?? { ...contentOf(base), seen }
  const clear = (): void => {
    deleteDraft(user, slug, base.version, content)
    setState({ of, content: null, isKept: true })
  }
  /** The version that this draft was saved as, until the page shows that. */
  const moving = useRef<number | null>(null)
  useEffect(() => () => void (moving.current = null), [base.id])
  const keep = (next: DraftContent): void => {
    const savedAs = moving.current
    const isKept = savedAs === null ? keepDraft(user, slug, base.version, next) : keepDraft(user, slug, savedAs, { ...next, seen: savedAs })
    if (!isKept && state.isKept) toast(NO_ROOM)
    setState({ of, content: next, isKept })
  }
  return {
    content,
    isChanged: !sameContent(content, contentOf(base)),
    change: (next) => (sameContent(next, contentOf(base)) ? clear() : keep(next)),
    discard() {
      clear()
      const place = { user, slug, base: base.version }
      toast('The draft is discarded.', () => putBack(place, content), noteOf(place))
    },
    async saved(as, show) {
      const written = readDraft(user, slug, base.version) ?? content
      if (!sameContent(written, content)) keepDraft(user, slug, as, { ...written, seen: as })
      // Until then this draft is what the page shows, and not the text that it replaced. What is typed into it is a draft of the version.
      moving.current = as
      await show()
      deleteDraft(user, slug, base.version, written)
    },
  }
}

const NO_ROOM = 'This browser has no room to keep the draft. It is lost with this tab unless you save it.'

interface Place {
  readonly user: string
  readonly slug: string
  readonly base: number
}

const noteOf = ({ slug, base }: Place): string => `draft of ${slug} from v${base}`

/** A draft is put back after its screen was left, too; the screen reads it then. */
const timesPutBack = createStore(0)

/** No text is lost: the note offers the one that was written since. */
const putBack = ({ user, slug, base }: Place, content: DraftContent): void => {
  const since = readDraft(user, slug, base)
  const isKept = keepDraft(user, slug, base, content)
  timesPutBack.set(timesPutBack.get() + 1)
  const place = { user, slug, base }
  const words = `The draft from v${base} of ${slug} is back${since === null ? '' : ', in place of what was written since'}.`
  toast(isKept ? words : `${words} ${NO_ROOM}`, since === null ? null : () => putBack(place, since), noteOf(place))
}
