/** Two versions of a preset: the prompt first, then the settings. */
import { useMemo } from 'react'

import { DiffText } from './diff-text.tsx'
import { SeenText } from './seen-text.tsx'
import { settingsDiff } from './settings-diff.ts'

export interface PresetContent {
  readonly system: string
  readonly settings: Readonly<Record<string, unknown>>
}

interface ContentDiffProps {
  readonly before: PresetContent
  readonly after: PresetContent
  readonly beforeTitle: string
  readonly afterTitle: string
}

export const ContentDiff = ({ before, after, beforeTitle, afterTitle }: ContentDiffProps) => {
  const settings = useMemo(() => settingsDiff(before.settings, after.settings), [before.settings, after.settings])
  const isPromptSame = before.system === after.system
  if (isPromptSame && settings.length === 0) {
    return (
      <p className="soft">
        {beforeTitle} and {afterTitle} are the same.
      </p>
    )
  }
  return (
    <div className="stack diff">
      <p className="soft small">
        <del>only in {beforeTitle}</del> <ins>only in {afterTitle}</ins>
      </p>
      {isPromptSame ? null : (
        <section>
          <h3>System prompt</h3>
          <DiffText before={before.system} after={after.system} />
        </section>
      )}
      {settings.length === 0 ? null : (
        <section>
          <h3>Settings</h3>
          <dl className="diff-settings">
            {settings.map(({ name, before: one, after: other }) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>
                  <Value text={one} mark="del" />
                </dd>
                <dd>
                  <Value text={other} mark="ins" />
                </dd>
              </div>
            ))}
          </dl>
        </section>
      )}
    </div>
  )
}

const Value = ({ text, mark: Mark }: { text: string | null; mark: 'del' | 'ins' }) =>
  text === null ? (
    <span className="faint">not set</span>
  ) : (
    <Mark>
      <SeenText text={text} />
    </Mark>
  )
