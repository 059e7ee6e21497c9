/** The media type for the ending of a file's name; undefined if the ending is missing or unknown. */
export const typeOfName = (name: string): string | undefined => {
  const ending = /\.([a-z0-9]{2,5})$/i.exec(name)?.[1]?.toLowerCase()
  return ending !== undefined && Object.hasOwn(TYPES, ending) ? TYPES[ending] : undefined
}

/** Says whether a file of this media type can be read as text. */
export const isTextType = (mediaType: string): boolean => /^text\/|^application\/(?:json|xml|yaml|x-yaml|javascript|toml)$/.test(mediaType)

const TYPES: Readonly<Record<string, string>> = {
  bmp: 'image/bmp',
  heic: 'image/heic',
  heif: 'image/heif',
  gif: 'image/gif',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  png: 'image/png',
  webp: 'image/webp',
  aac: 'audio/aac',
  flac: 'audio/flac',
  mp3: 'audio/mp3',
  ogg: 'audio/ogg',
  wav: 'audio/wav',
  avi: 'video/avi',
  flv: 'video/x-flv',
  mov: 'video/quicktime',
  mp4: 'video/mp4',
  mpeg: 'video/mpeg',
  mpg: 'video/mpg',
  webm: 'video/webm',
  wmv: 'video/wmv',
  css: 'text/css',
  csv: 'text/csv',
  html: 'text/html',
  js: 'text/javascript',
  json: 'application/json',
  md: 'text/markdown',
  pdf: 'application/pdf',
  rtf: 'text/rtf',
  txt: 'text/plain',
  xml: 'text/xml',
  doc: 'application/msword',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  xls: 'application/vnd.ms-excel',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  ppt: 'application/vnd.ms-powerpoint',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
}
