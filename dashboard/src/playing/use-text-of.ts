/** A value that is edited as text: typed text keeps its spaces, and a change made elsewhere is shown. */
import { useEffect, useState } from 'react'

type Read<Value> = { readonly value: Value } | { readonly fault: string }

interface TextOf {
  readonly text: string
  /** The reason why the text cannot be read; until it is mended, the last valid value stays. */
  readonly fault: string | null
  readonly change: (text: string) => void
}

/** `read` and `layOut` must be functions of a module, so that they stay the same between renders. */
export const useTextOf = <Value>(
  value: Value,
  read: (text: string) => Read<Value>,
  layOut: (value: Value) => string,
  onChange: (value: Value) => void,
): TextOf => {
  const [text, setText] = useState(() => layOut(value))
  const found = read(text)
  useEffect(() => {
    setText((shown) => {
      const now = read(shown)
      return 'fault' in now || layOut(now.value) === layOut(value) ? shown : layOut(value)
    })
  }, [value, read, layOut])
  return {
    text,
    fault: 'fault' in found ? found.fault : null,
    change: (next) => {
      setText(next)
      const parsed = read(next)
      if ('value' in parsed) onChange(parsed.value)
    },
  }
}
