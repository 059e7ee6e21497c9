/** Loads the conversation of a request that used this preset, to try the draft with. */
import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'

import { generationContent, newestGenerations } from '../../api/generations.ts'
import { queryClient } from '../../api/query-client.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Empty } from '../../parts/empty.tsx'
import { messageOf } from '../../parts/error-note.tsx'
import { KeyName } from '../../parts/key-name.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { When } from '../../parts/when.tsx'
import { askedFrom, type Message } from '../../playing/conversation-input.ts'
import { toast } from '../../shell/toasts.tsx'

/** The number of newest requests that are offered; an older one can be replayed from its own page. */
const OFFERED = 20

export const FromRequest = ({ slug, onLoad }: { slug: string; onLoad: (messages: readonly Message[]) => void }) => {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button kind="quiet" onClick={() => setOpen(true)}>
        From a request…
      </Button>
      {isOpen ? <Requests slug={slug} onLoad={onLoad} onClose={() => setOpen(false)} /> : null}
    </>
  )
}

interface RequestsProps {
  readonly slug: string
  readonly onLoad: (messages: readonly Message[]) => void
  readonly onClose: () => void
}

const Requests = ({ slug, onLoad, onClose }: RequestsProps) => {
  const { workspace } = useSearch({ strict: false })
  const stored = useQuery(newestGenerations({ preset: slug, has_content: true, workspace_id: workspace }, OFFERED))
  const load = async (id: string): Promise<void> => {
    const { request } = await queryClient.fetchQuery(generationContent(id))
    // The system prompt is left out, since the preset has its own.
    onLoad(askedFrom(request ?? {}, 'chat').messages)
    onClose()
  }
  return (
    <Dialog title="From a request" onClose={onClose}>
      <Loaded query={stored} rows={4}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty>
              No request with {slug} has its texts stored in the last 24 hours. Settings → Logging turns that on for new requests.
            </Empty>
          ) : (
            <ul className="saved-tests" aria-label={`Requests with ${slug}`}>
              {rows.map(({ id, created_at: at, api_key_name: key }) => (
                <li key={id} className="row">
                  <button
                    type="button"
                    className="link-button"
                    onClick={() => void load(id).catch((thrown: unknown) => toast(messageOf(thrown)))}
                  >
                    {id}
                  </button>
                  <span className="faint small">
                    {key === null ? '–' : <KeyName name={key} />} · <When at={at} />
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
      <p className="faint small">Each reading of a text is an entry of the audit log.</p>
    </Dialog>
  )
}
