/** Names for the properties in which the endpoints of one model differ (docs/contract/routing.md#preferences). */

/** The number of bits of a weight, and their format. */
export const QUANTIZATIONS = ['int4', 'int8', 'fp4', 'mxfp4', 'nvfp4', 'fp6', 'fp8', 'mxfp8', 'fp16', 'bf16', 'fp32', 'unknown'] as const
export type Quantization = (typeof QUANTIZATIONS)[number]

export const ENDPOINT_TIERS = ['priority', 'flex', 'ultrafast'] as const
export type EndpointTier = (typeof ENDPOINT_TIERS)[number]
