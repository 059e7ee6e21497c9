/** An editor for JSON: a plain text field until the real editor is loaded, and for good if it cannot be loaded. */
import { type FunctionComponent, useEffect, useId, useState } from 'react'

import type { CodeEditorProps } from './code-editor.tsx'

interface JsonEditorProps {
  readonly label: string
  readonly value: string
  readonly fault?: string | null
  readonly onChange: (text: string) => void
}

export const JsonEditor = ({ label, value, fault = null, onChange }: JsonEditorProps) => {
  const id = useId()
  const CodeEditor = useCodeEditor()
  // The editor replaces the field only when the field does not have the focus: otherwise keys typed meanwhile would be lost.
  const [hasFocus, setFocus] = useState(false)
  return (
    <div className="field">
      {CodeEditor === null || hasFocus ? (
        <textarea
          aria-label={label}
          aria-describedby={id}
          aria-invalid={fault !== null}
          value={value}
          rows={10}
          spellCheck={false}
          onChange={(event) => onChange(event.target.value)}
          onFocus={() => setFocus(true)}
          // When the window loses the focus, the field is still the active element, and gets the focus back with the window.
          onBlur={(event) => setFocus(document.activeElement === event.currentTarget)}
        />
      ) : (
        <CodeEditor label={label} describedBy={id} value={value} onChange={onChange} />
      )}
      <div id={id} className="fault" role={fault === null ? undefined : 'alert'}>
        {fault}
      </div>
    </div>
  )
}

let loaded: FunctionComponent<CodeEditorProps> | null = null

const useCodeEditor = (): FunctionComponent<CodeEditorProps> | null => {
  const [editor, setEditor] = useState(() => loaded)
  useEffect(() => {
    if (editor !== null) return
    void import('./code-editor.tsx').then(
      (parts) => {
        loaded = parts.CodeEditor
        setEditor(() => parts.CodeEditor)
      },
      // Ignored, since the plain field works too, without colours.
      () => undefined,
    )
  }, [editor])
  return editor
}
