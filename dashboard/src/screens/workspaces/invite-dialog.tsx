/** Creates a link that signs one person in, once. A new person becomes a member with it. */
import { type FormEvent, useState } from 'react'

import { createLoginLink, type LoginLink } from '../../api/workspaces.ts'
import { Button } from '../../parts/button.tsx'
import { CodeBlock } from '../../parts/code-block.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { DialogActions } from '../../parts/dialog-actions.tsx'
import { messageOf } from '../../parts/error-note.tsx'
import { Field } from '../../parts/field.tsx'
import { When } from '../../parts/when.tsx'

export const InviteDialog = ({ workspaceId, onClose }: { workspaceId: string; onClose: () => void }) => {
  const [link, setLink] = useState<LoginLink | null>(null)
  const [person, setPerson] = useState('')
  const [role, setRole] = useState('member')
  const [fault, setFault] = useState<string | null>(null)
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    setFault(null)
    createLoginLink({ user_id: person.trim(), role, workspace_id: workspaceId })
      .then(setLink)
      .catch((thrown: unknown) => setFault(messageOf(thrown)))
  }
  if (link !== null) {
    return (
      <Dialog title={`Link for ${link.user_id}`} onClose={onClose}>
        <div className="stack">
          <CodeBlock label="Opens one session, once" text={link.url} isFirst />
          <p className="soft">
            It ends <When at={link.expires_at} />. Send it to nobody else: whoever opens it is signed in as {link.user_id}.
          </p>
          <div className="dialog-actions">
            <Button kind="primary" onClick={onClose}>
              Done
            </Button>
          </div>
        </div>
      </Dialog>
    )
  }
  return (
    <Dialog title="Invite link" onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <Field label="Person" hint="The name or mail address that your own systems know them by." fault={fault}>
          <input value={person} onChange={(event) => setPerson(event.target.value)} required autoFocus maxLength={256} autoComplete="off" />
        </Field>
        <Field label="Role" hint="Members see their own keys and requests; admins everything of the workspace.">
          <select value={role} onChange={(event) => setRole(event.target.value)}>
            <option value="member">member</option>
            <option value="admin">admin</option>
          </select>
        </Field>
        <DialogActions action="Create link" onClose={onClose} />
      </form>
    </Dialog>
  )
}
