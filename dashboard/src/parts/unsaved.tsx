/** Says that the edits of a form are not in force, and discards them. */
import { toast, withdraw } from '../shell/toasts.tsx'
import type { Edited } from '../use-edited.ts'
import { Button } from './button.tsx'

/** Shown beside the button that saves. */
export const Unsaved = <Form extends object>({ form }: { form: Edited<Form> }) =>
  form.isChanged && !form.hasMoved ? (
    <>
      <span className="soft">Not saved yet.</span>
      <Button kind="quiet" onClick={() => discardEdits(form)}>
        Discard
      </Button>
    </>
  ) : null

export const discardEdits = <Form extends object>(form: Edited<Form>): void => {
  form.discard()
  toast('What you wrote is discarded.', () => form.change(form.value), DISCARDED)
  form.whenOver(() => withdraw(DISCARDED))
}

const DISCARDED = 'edits that were discarded'
