/** The contents of a request, if the workspace stores them. The audit log records each reading, so they are fetched only on a click. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'

import { ApiError } from '../../api/api-error.ts'
import { generationContent, type GenerationContent } from '../../api/generations.ts'
import { Button } from '../../parts/button.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Loaded } from '../../parts/loaded.tsx'

interface KeptContentsProps {
  readonly id: string
  /** Shown below the sentence that the contents were not stored. */
  readonly withoutThem?: ReactNode
  readonly children: (content: GenerationContent) => ReactNode
}

export const KeptContents = ({ id, withoutThem, children }: KeptContentsProps) => {
  const [isAsked, setAsked] = useState(false)
  const content = useQuery({ ...generationContent(id), enabled: isAsked })
  if (!isAsked && content.data === undefined) {
    return (
      <Empty action={<Button onClick={() => setAsked(true)}>Show the contents</Button>}>
        Contents may be private. That you read them is written to the audit log.
      </Empty>
    )
  }
  if (content.error instanceof ApiError && content.error.status === 404) {
    return (
      <>
        <Empty action={<Link to="/settings">Logging in Settings</Link>}>
          The contents of this request were not kept. A workspace keeps them for new requests once logging is switched on.
        </Empty>
        {withoutThem}
      </>
    )
  }
  return <Loaded query={content}>{children}</Loaded>
}
