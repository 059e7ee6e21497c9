/** Opens a request in the playground, makes a preset of it, or copies it as a shell command. */
import { Link } from '@tanstack/react-router'
import { useState } from 'react'

import type { Generation } from '../../api/generations.ts'
import { Button } from '../../parts/button.tsx'
import { CopyCurl } from '../../parts/copy-curl.tsx'
import { MakePreset } from './make-preset.tsx'

export const RequestActions = ({ record }: { record: Generation }) => {
  const [isMaking, setMaking] = useState(false)
  return (
    <div className="row">
      <Link className="button plain" to="/playground" search={{ request: record.id }}>
        Replay in playground
      </Link>
      <Button onClick={() => setMaking(true)}>Make a preset</Button>
      <CopyCurl path="/generation" query={{ id: record.id }} />
      {isMaking ? <MakePreset record={record} onClose={() => setMaking(false)} /> : null}
    </div>
  )
}
