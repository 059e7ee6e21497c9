/** Loads the request that the address names into the playground: with its texts if they were stored, otherwise with its settings only. */
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useRef, useState } from 'react'

import { generation, generationContent } from '../../api/generations.ts'
import type { PresetShape } from '../../api/presets.ts'
import { ErrorNote } from '../../parts/error-note.tsx'
import { askedFrom } from '../../playing/conversation-input.ts'
import type { Message } from '../../playing/conversation-input.ts'

export interface Replayed {
  readonly interface: PresetShape
  readonly model: string
  readonly system: string
  readonly messages: readonly Message[]
  readonly settings: Readonly<Record<string, unknown>>
}

/**
 * Returns the note to show about it. `take` must remove the id from the address, since after a change the contents are no longer that
 * request.
 */
export const useReplay = (id: string | undefined, take: (found: Replayed) => void): ReactNode => {
  const record = useQuery({ ...generation(id ?? ''), enabled: id !== undefined })
  const content = useQuery({ ...generationContent(id ?? ''), enabled: id !== undefined })
  const taken = useRef<string | null>(null)
  const [isWithoutTexts, setWithoutTexts] = useState(false)
  const isKnown = content.isSuccess || content.isError
  useEffect(() => {
    if (id === undefined || taken.current === id || record.data === undefined || !isKnown) return
    taken.current = id
    setWithoutTexts(content.isError)
    const { interface: asked, preset_slug: slug, preset_version: version } = record.data
    const dialect = asked === 'responses' || asked === 'messages' ? asked : 'chat'
    const body = content.data?.request ?? record.data.settings ?? {}
    const { model, ...settings } = askedFrom(body, dialect).settings
    const named = typeof model === 'string' ? model : slug === null ? record.data.model : `@preset/${slug}@${version}`
    take({ ...askedFrom(body, dialect), settings, interface: dialect, model: named })
  }, [id, record.data, content.data, content.isError, isKnown, take])
  if (id !== undefined && record.error !== null) return <ErrorNote error={record.error} />
  return isWithoutTexts ? (
    <p className="note warn">The texts of this request were not kept, so only its model and settings are here.</p>
  ) : null
}
