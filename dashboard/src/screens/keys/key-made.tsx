/** A new key, which is shown only in this dialog. If it was not copied, closing asks for confirmation once. */
import { useState } from 'react'

import { Button } from '../../parts/button.tsx'
import { ClientSnippet } from '../../parts/client-snippet.tsx'
import { CodeBlock } from '../../parts/code-block.tsx'
import { Dialog } from '../../parts/dialog.tsx'

export const KeyMade = ({ title, apiKey, onClose }: { title: string; apiKey: string; onClose: () => void }) => {
  const [copied, setCopied] = useState(false)
  const [leaving, setLeaving] = useState(false)
  const [client, setClient] = useState<string | undefined>(undefined)
  const leave = (): void => (copied || leaving ? onClose() : setLeaving(true))
  return (
    <Dialog title={title} wide onClose={leave}>
      <div className="stack">
        <CodeBlock label="The key, shown this once" text={apiKey} isFirst onCopied={() => setCopied(true)} />
        <ClientSnippet client={client} onClient={setClient} apiKey={apiKey} model="sandbox/echo" onCopied={() => setCopied(true)} />
        {leaving ? (
          <p className="note warn" role="alert">
            The key was not copied, and cannot be shown again.
          </p>
        ) : null}
        <div className="dialog-actions">
          <Button kind={leaving ? 'danger' : 'primary'} onClick={leave}>
            {leaving ? 'Leave without it' : 'Done'}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
