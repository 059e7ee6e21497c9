import { Field } from '../parts/field.tsx'
import { readNumber, writeNumber } from '../typed-number.ts'
import { useTextOf } from './use-text-of.ts'

interface NumberSettingProps {
  readonly title: string
  /** The member of the settings; anything but a number is shown as an empty field. */
  readonly value: unknown
  readonly onChange: (value: unknown) => void
  /** The text of a lock on the setting, if there is one. */
  readonly hint: string | undefined
}

/** A text field, since the browser's own field for numbers silently leaves out a decimal comma: `0,7` becomes 7. */
export const NumberSetting = ({ title, value, onChange, hint }: NumberSettingProps) => {
  const { text, fault, change } = useTextOf(value, parseSetting, laidOut, onChange)
  const unread = fault === null ? null : `${fault} Until it is mended, the request has the value before this change.`
  return (
    <Field label={title} hint={hint} fault={unread}>
      <input value={text} placeholder="default" onChange={(event) => change(event.target.value)} inputMode="decimal" autoComplete="off" />
    </Field>
  )
}

const parseSetting = (text: string): { readonly value: number | undefined } | { readonly fault: string } => {
  if (text.trim() === '') return { value: undefined }
  const value = readNumber(text)
  return value === null ? { fault: `"${text}" is no number. Write it as 20 or 0.7.` } : { value }
}

const laidOut = (value: unknown): string => (typeof value === 'number' ? writeNumber(value) : '')
