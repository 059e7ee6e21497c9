/** A CodeMirror editor for JSON. */
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { json } from '@codemirror/lang-json'
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language'
import { EditorState, Transaction } from '@codemirror/state'
import { EditorView, highlightSpecialChars, keymap, type ViewUpdate } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { useEffect, useRef } from 'react'

import { PAGE_NONCE } from '../page.ts'

/** CodeMirror's own colours do not reach the WCAG contrast in the dark theme. */
const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--accent)' },
  { tag: tags.string, color: 'var(--ok)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--warn)' },
])

const look = EditorView.theme({
  '&': {
    backgroundColor: 'var(--raised)',
    color: 'var(--text)',
    border: '1px solid var(--field-line)',
    borderRadius: '6px',
    fontSize: '0.75rem',
  },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '1px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.125rem', minHeight: '11.25rem', maxHeight: '26.25rem' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground, ::selection': { backgroundColor: 'var(--selected) !important' },
  '.cm-matchingBracket': { backgroundColor: 'var(--hover) !important' },
})

/** If the browser replaced a coloured selection, it would keep the colours with an inline style, which the page's policy refuses. */
const typeOverSelection = EditorView.domEventHandlers({
  beforeinput(event, view) {
    // Read from the browser, since the editor learns of a new selection later.
    const selected = document.getSelection()
    if (event.inputType !== 'insertText' || event.data === null || selected === null || selected.isCollapsed) return false
    const replaced = selected.getRangeAt(0)
    const from = view.posAtDOM(replaced.startContainer, replaced.startOffset)
    const to = view.posAtDOM(replaced.endContainer, replaced.endOffset)
    // The length must be the editor's, which counts a line break of two characters as one.
    const insert = view.state.toText(event.data)
    const selection = { anchor: from + insert.length }
    view.dispatch({ changes: { from, to, insert }, selection, userEvent: 'input.type', scrollIntoView: true })
    event.preventDefault()
    return true
  },
})

export interface CodeEditorProps {
  readonly label: string
  readonly describedBy: string
  readonly value: string
  readonly onChange: (text: string) => void
}

export const CodeEditor = ({ label, describedBy, value, onChange }: CodeEditorProps) => {
  const place = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView | null>(null)
  const changed = useRef(onChange)
  useEffect(() => {
    changed.current = onChange
  })
  const first = useRef(value)
  useEffect(() => {
    if (place.current === null) return
    const editor = new EditorView({
      parent: place.current,
      state: EditorState.create({
        doc: first.current,
        extensions: [
          EditorView.cspNonce.of(PAGE_NONCE),
          history(),
          highlightSpecialChars(),
          indentOnInput(),
          bracketMatching(),
          json(),
          syntaxHighlighting(colours),
          look,
          typeOverSelection,
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ 'aria-label': label, 'aria-describedby': describedBy }),
          // Tab is not bound, so it moves the focus, as everywhere on a page.
          keymap.of([...defaultKeymap, ...historyKeymap]),
          EditorView.updateListener.of((update) => {
            if (update.docChanged && !isFromPage(update)) changed.current(update.state.doc.toString())
          }),
        ],
      }),
    })
    view.current = editor
    return () => editor.destroy()
  }, [label, describedBy])
  useEffect(() => {
    const editor = view.current
    if (editor !== null && editor.state.doc.toString() !== value) {
      editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value }, annotations: Transaction.remote.of(true) })
    }
  }, [value])
  return <div ref={place} />
}

/** A value that the page gives to the editor is no change by the person, who may still undo what gave it. */
const isFromPage = ({ transactions }: ViewUpdate): boolean => transactions.some((one) => one.annotation(Transaction.remote) === true)
