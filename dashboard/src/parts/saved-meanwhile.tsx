/** Shown where somebody else saved the object that this person is editing. What is typed stays until they choose otherwise. */
import { Button } from './button.tsx'
import { toast } from '../shell/toasts.tsx'
import type { Edited } from '../use-edited.ts'

interface SavedMeanwhileProps<Form extends object> {
  readonly what: string
  readonly form: Edited<Form>
  /** This person saves it themselves. */
  readonly isSaving: boolean
}

export const SavedMeanwhile = <Form extends object>({ what, form, isSaving }: SavedMeanwhileProps<Form>) => {
  if (!form.hasMoved || isSaving) return null
  const discard = (): void => {
    const { value } = form
    form.discard()
    toast('What you wrote is discarded.', () => form.change(value))
  }
  return (
    <div className="note warn row" role="alert">
      <span>{what} was changed by somebody else after you began. What you wrote is kept; Save puts it in the place of theirs.</span>
      <Button onClick={discard}>Show what is saved</Button>
    </div>
  )
}
