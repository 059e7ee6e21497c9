/** Determines the container in which a request's commands run: its session's, its own, or one that it names. */
import { createHash } from 'node:crypto'

import { z } from 'zod'

import type { IdSource } from '../../lib/id.ts'
import type { ToolCaller } from '../tool.ts'
import type { Container } from './sandbox.ts'

export const containerMembers = {
  environment: z
    .discriminatedUnion(
      'type',
      [
        z.looseObject({ type: z.literal('container_auto') }),
        z.looseObject({ type: z.literal('container_reference'), container_id: z.string().min(1).max(20) }),
      ],
      { error: 'Commands run in a container of the service: container_auto or container_reference.' },
    )
    .default({ type: 'container_auto' }),
  sleep_after_seconds: z.int().min(1).max(2_592_000).default(900),
}

type Asked = z.output<z.ZodObject<typeof containerMembers>>

export interface AskedContainer extends Container {
  /** The container's id for the client. */
  readonly id: string
  /** The container ends with the request. */
  readonly isForRequest: boolean
}

export type ContainerOf = (asked: Asked, caller: ToolCaller) => AskedContainer

/** All tools of one request share one container. */
export const createContainerOf = (ids: IdSource): ContainerOf => {
  const ofRequests = new WeakMap<ToolCaller, string>()
  const ofCaller = (caller: ToolCaller): string => {
    const { workspaceId, sessionId } = caller
    if (sessionId !== null) return digest(JSON.stringify([workspaceId, sessionId])).slice(0, ID_LENGTH)
    const id = ofRequests.get(caller) ?? ids.prefixed('').slice(1, 1 + ID_LENGTH)
    ofRequests.set(caller, id)
    return id
  }
  return ({ environment, sleep_after_seconds: idleSeconds }, caller) => {
    const isReference = environment.type === 'container_reference'
    const { workspaceId, sessionId } = caller
    const id = isReference ? environment.container_id : ofCaller(caller)
    return {
      id,
      // Any client can send any id; since the name includes the workspace, it reaches only containers of its own workspace.
      name: `patchbay-${digest(JSON.stringify([workspaceId, id])).slice(0, NAME_LENGTH)}`,
      isMade: !isReference,
      isForRequest: !isReference && sessionId === null,
      idleSeconds,
    }
  }
}

const ID_LENGTH = 20
const NAME_LENGTH = 40

const digest = (text: string): string => createHash('sha256').update(text).digest('hex')
