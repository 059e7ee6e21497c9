/** Shown where somebody else saved the object that this person is editing. What is typed stays until they choose otherwise. */
import type { Edited } from '../use-edited.ts'
import { Button } from './button.tsx'
import { discardEdits } from './unsaved.tsx'

interface SavedMeanwhileProps<Form extends object> {
  readonly what: string
  readonly form: Edited<Form>
  /** This person saves it themselves. */
  readonly isSaving: boolean
  /** A few words for the value that is saved now. They stand in place of the button, which would discard what was typed. */
  readonly theirs?: string
}

/** Said by a dialog that stays open, beside the note. */
export const NOT_SAVED = 'Not saved yet: it was changed meanwhile.'

export const SavedMeanwhile = <Form extends object>({ what, form, isSaving, theirs }: SavedMeanwhileProps<Form>) => {
  if (!form.hasMoved || isSaving) return null
  return (
    <div className="note warn row" role="alert">
      <span>
        {what} was changed by somebody else after you began. What you wrote is kept
        {form.isAgainstTheirs ? '; Save puts it in the place of theirs' : ', and Save keeps what they changed'}.
      </span>
      {theirs === undefined ? <Button onClick={() => discardEdits(form)}>Show what is saved</Button> : <span>It is {theirs} now.</span>}
    </div>
  )
}
