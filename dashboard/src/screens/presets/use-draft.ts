/** The draft of a preset: the contents of its base version until somebody edits it. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'

import type { PresetVersion } from '../../api/presets.ts'
import { currentSession } from '../../api/session.ts'
import type { PresetContent } from '../../diff/content-diff.tsx'
import { toast } from '../../shell/toasts.tsx'
import { contentOf, sameContent } from './content-of.ts'
import { keepDraft, readDraft } from './drafts.ts'

export interface Draft {
  readonly content: PresetContent
  readonly isChanged: boolean
  change(content: PresetContent): void
  /** Resets the draft to the contents of the version. */
  discard(): void
}

export const useDraft = (slug: string, base: PresetVersion): Draft => {
  const session = useQuery(currentSession)
  const user = session.data?.user_id ?? ''
  const of = `${user} ${base.id}`
  const [state, setState] = useState<{ of: string; content: PresetContent | null; isKept: boolean }>({
    of: '',
    content: null,
    isKept: true,
  })
  const kept = state.of === of ? state.content : readDraft(user, slug, base.version)
  const content = kept ?? contentOf(base)
  const keep = (next: PresetContent | null): void => {
    const isKept = keepDraft(user, slug, base.version, next)
    if (!isKept && state.isKept) toast('This browser has no room to keep the draft. It is lost with this page unless you save it.')
    setState({ of, content: next, isKept })
  }
  return {
    content,
    isChanged: !sameContent(content, contentOf(base)),
    change: (next) => keep(sameContent(next, contentOf(base)) ? null : next),
    discard: () => keep(null),
  }
}
