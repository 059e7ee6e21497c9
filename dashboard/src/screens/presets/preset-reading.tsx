/** A read-only view of the preset, for people who use it and may not change it. */
import { Link } from '@tanstack/react-router'

import type { ReadPreset } from '../../api/presets.ts'
import { CodeBlock } from '../../parts/code-block.tsx'
import { Copy } from '../../parts/copy.tsx'
import { CopyPresetCurl } from '../../parts/copy-preset-curl.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Panel } from '../../parts/panel.tsx'
import { ScreenHead } from '../../parts/screen-head.tsx'
import { When } from '../../parts/when.tsx'
import { PresetState } from './preset-state.tsx'

export const PresetReading = ({ preset }: { preset: ReadPreset }) => {
  const { slug, name, description, designated_version: live } = preset
  return (
    <>
      <ScreenHead title={name}>
        <PresetState preset={preset} />
        <Copy text={`@preset/${slug}`}>{`@preset/${slug}`}</Copy>
        <CopyPresetCurl slug={slug} />
        <Link className="button primary" to="/playground" search={{ model: `@preset/${slug}` }}>
          Open in playground
        </Link>
      </ScreenHead>
      <Panel title="What it does">
        <div className="stack">
          {description === null ? null : <p className="soft">{description}</p>}
          <Facts facts={[['Saved', <When key="saved" at={live.created_at} />]]} />
          {live.system_prompt === null ? null : <CodeBlock label="System prompt" text={live.system_prompt} />}
          <CodeBlock label="Settings" text={JSON.stringify(live.config, null, 2)} />
        </div>
      </Panel>
    </>
  )
}
