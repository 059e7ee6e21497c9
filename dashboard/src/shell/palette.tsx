/** The ⌘K palette: finds screens, objects by name, and pasted ids. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Command } from 'cmdk'
import { useState } from 'react'

import { search, type SearchHit } from '../api/search.ts'
import { Dialog } from '../parts/dialog.tsx'
import { messageOf } from '../parts/error-note.tsx'
import { useSettled } from '../parts/use-settled.ts'
import { addressOf } from './hit-address.ts'
import type { Screen } from './navigation.ts'
import { typedAhead } from './palette-opening.tsx'

/** The pause in typing before a search is sent. */
const TYPING_MS = 150

export interface PaletteProps {
  readonly onClose: () => void
  readonly screens: readonly Screen[]
}

export const Palette = ({ onClose, screens }: PaletteProps) => {
  const [text, setText] = useState(typedAhead.get)
  const navigate = useNavigate()
  const settled = useSettled(text.trim(), TYPING_MS)
  const found = useQuery({ ...search(settled), placeholderData: keepPreviousData })
  const go = (to: string): void => {
    onClose()
    void navigate({ to })
  }
  const open = (hit: SearchHit): void => {
    onClose()
    void navigate(addressOf(hit))
  }
  const matching = screens.filter(({ title }) => title.toLowerCase().includes(text.trim().toLowerCase()))
  // A pasted id opens its object even if the search does not find it.
  const pasted = /^(?:gen-|resp_|msg_)[\w-]{8,}$/.exec(text.trim())?.[0]
  const hits: readonly SearchHit[] =
    pasted !== undefined ? [{ type: 'generation', id: pasted, title: pasted }] : text.trim() === '' ? [] : (found.data ?? [])
  return (
    <Dialog title="Search and commands" onClose={onClose}>
      <Command label="Search and commands" shouldFilter={false} className="palette">
        <Command.Input value={text} onValueChange={setText} placeholder="A screen, a name, an id, a key's last four…" />
        <Command.List>
          {hits.length === 0 ? null : (
            <Command.Group heading="Found">
              {hits.map((hit) => (
                <Command.Item key={`${hit.type} ${hit.id}`} value={`${hit.type} ${hit.id}`} onSelect={() => open(hit)}>
                  <span className="cut">{hit.title}</span>
                  <span className="faint">{hit.type}</span>
                </Command.Item>
              ))}
            </Command.Group>
          )}
          {matching.length === 0 ? null : (
            <Command.Group heading="Go to">
              {matching.map(({ to, title, key }) => (
                <Command.Item key={to} value={to} onSelect={() => go(to)}>
                  {title} <kbd aria-hidden="true">g {key}</kbd>
                </Command.Item>
              ))}
            </Command.Group>
          )}
          {hits.length === 0 && matching.length === 0 ? (
            <p className="empty" role="status">
              {found.isFetching || settled !== text.trim()
                ? 'Searching…'
                : found.error !== null
                  ? `Nothing could be searched: ${messageOf(found.error)}`
                  : 'Nothing has that name or id. A request that was refused at the door is not recorded: its answer says why.'}
            </p>
          ) : null}
        </Command.List>
      </Command>
    </Dialog>
  )
}
