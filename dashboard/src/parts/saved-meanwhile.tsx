/** Shown where somebody else saved the object that this person is editing. What is typed stays until they choose otherwise. */
import type { Edited } from '../use-edited.ts'
import { Button } from './button.tsx'
import { discardEdits } from './unsaved.tsx'

interface SavedMeanwhileProps<Form extends object> {
  readonly what: string
  readonly form: Edited<Form>
  /** This person saves it themselves. */
  readonly isSaving: boolean
}

export const SavedMeanwhile = <Form extends object>({ what, form, isSaving }: SavedMeanwhileProps<Form>) => {
  if (!form.hasMoved || isSaving) return null
  return (
    <div className="note warn row" role="alert">
      <span>
        {what} was changed by somebody else after you began. What you wrote is kept
        {form.isAgainstTheirs ? '; Save puts it in the place of theirs' : ', and Save keeps what they changed'}.
      </span>
      <Button onClick={() => discardEdits(form)}>Show what is saved</Button>
    </div>
  )
}
