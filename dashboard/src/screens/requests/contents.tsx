/** The question and the answer, where the workspace keeps them. Each reading is in the audit log, so it is asked for by a click. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'

import { ApiError } from '../../api/api-error.ts'
import { generationContent, type GenerationContent } from '../../api/generations.ts'
import { Button } from '../../parts/button.tsx'
import { curlOf } from '../../curl.ts'
import { Copy } from '../../parts/copy.tsx'
import { Conversation } from '../../parts/conversation.tsx'
import { Empty } from '../../parts/empty.tsx'
import { JsonText } from '../../parts/json-text.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { INFERENCE_PATHS } from '../../playing/conversation-input.ts'

interface ContentsProps {
  readonly id: string
  readonly side: 'request' | 'answer'
  readonly interface: string | null
}

export const Contents = ({ id, side, interface: dialect }: ContentsProps) => {
  const path = Object.entries(INFERENCE_PATHS).find(([name]) => name === dialect)?.[1]
  const [isAsked, setAsked] = useState(false)
  const [asJson, setAsJson] = useState(false)
  const content = useQuery({ ...generationContent(id), enabled: isAsked })
  if (!isAsked && content.data === undefined) {
    return (
      <Empty action={<Button onClick={() => setAsked(true)}>Show the contents</Button>}>
        Contents may be private. That you read them is written to the audit log.
      </Empty>
    )
  }
  if (content.error instanceof ApiError && content.error.status === 404) {
    return (
      <Empty action={<Link to="/settings">Logging in Settings</Link>}>
        The contents of this request were not kept. A workspace keeps them for new requests once logging is switched on.
      </Empty>
    )
  }
  return (
    <Loaded query={content}>
      {(found) => (
        <div className="stack">
          <div className="row">
            <Button onClick={() => setAsJson(!asJson)} aria-pressed={asJson}>
              As JSON
            </Button>
            {side === 'request' && found.request !== null && path !== undefined ? (
              <Copy text={curlOf({ method: 'POST', path, body: found.request }, 'INFERENCE_KEY')} label="Copy as curl" />
            ) : null}
          </div>
          {asJson ? <JsonText value={sideOf(found, side)} /> : <Conversation body={sideOf(found, side)} />}
        </div>
      )}
    </Loaded>
  )
}

const sideOf = (content: GenerationContent, side: 'request' | 'answer'): unknown =>
  side === 'request' ? (content.request ?? content.request_beginning) : (content.answer ?? content.error)
