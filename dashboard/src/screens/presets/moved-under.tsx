/**
 * Shown if somebody saved another version while this draft was written. Nothing is lost: both are shown, and the draft can continue from
 * the newer one.
 */
import { useState } from 'react'

import type { PresetVersion } from '../../api/presets.ts'
import { ContentDiff, type PresetContent } from '../../diff/content-diff.tsx'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Person } from '../../parts/person.tsx'
import { When } from '../../parts/when.tsx'
import { contentOf } from './content-of.ts'

interface MovedUnderProps {
  readonly slug: string
  readonly base: PresetVersion
  readonly draft: PresetContent
  readonly newest: PresetVersion
  readonly onRebase: () => void
}

export const MovedUnder = ({ slug, base, draft, newest, onRebase }: MovedUnderProps) => {
  const [shown, setShown] = useState(false)
  return (
    <div className="note warn row" role="alert">
      <span>
        v{newest.version} of {slug} was saved by <Person id={newest.creator_id} /> <When at={newest.created_at} />, after your draft began.
      </span>
      <Button onClick={() => setShown(true)}>See what changed</Button>
      <Button onClick={onRebase}>Rebase draft</Button>
      {shown ? (
        <Dialog title={`What v${newest.version} changed, and what your draft would`} wide onClose={() => setShown(false)}>
          <ContentDiff
            before={contentOf(base)}
            after={contentOf(newest)}
            beforeTitle={`v${base.version}`}
            afterTitle={`v${newest.version}`}
          />
          <ContentDiff before={contentOf(newest)} after={draft} beforeTitle={`v${newest.version}`} afterTitle="your draft" />
        </Dialog>
      ) : null}
    </div>
  )
}
