import { isObject } from '../../lib/json/json.ts'
import type { Attempt } from '../provider.ts'
import { rulesOf } from './model-rules.ts'

/** Says whether the model takes changes of the effort within a conversation. */
export const keepsEffortChanges = ({ call, target }: Attempt): boolean => {
  const { effortChanges, thinkingOff } = rulesOf(target.upstreamModel)
  if (thinkingOff !== 'between_tools') return effortChanges
  // Such a model takes none while it thinks only between tools, which is also how it is kept from thinking.
  const thinking = call.body.value('thinking')
  return effortChanges && !(isObject(thinking) && (thinking['type'] === 'between_tools' || thinking['type'] === 'disabled'))
}
