/** The question and the answer, as a conversation and as JSON. */
import { useState } from 'react'

import type { GenerationContent } from '../../api/generations.ts'
import { curlOf } from '../../curl.ts'
import { Button } from '../../parts/button.tsx'
import { Conversation } from '../../parts/conversation.tsx'
import { Copy } from '../../parts/copy.tsx'
import { JsonText } from '../../parts/json-text.tsx'
import { inferencePath } from '../../playing/conversation-input.ts'
import { KeptContents } from './kept-contents.tsx'

interface ContentsProps {
  readonly id: string
  readonly side: 'request' | 'answer'
  readonly interface: string | null
}

export const Contents = ({ id, side, interface: dialect }: ContentsProps) => {
  const path = inferencePath(dialect)
  const [asJson, setAsJson] = useState(false)
  return (
    <KeptContents id={id}>
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
    </KeptContents>
  )
}

const sideOf = (content: GenerationContent, side: 'request' | 'answer'): unknown =>
  side === 'request' ? (content.request ?? content.request_beginning) : (content.answer ?? content.error)
