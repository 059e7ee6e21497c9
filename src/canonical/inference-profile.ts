/** The id of the model behind an inference profile of Bedrock, which spreads the requests for it over the regions of an area. */
export const withoutArea = (name: string): string => name.replace(/^(?:global|us|us-gov|eu|apac|jp|au|ca)\.(?=[a-z0-9]+\.)/, '')
