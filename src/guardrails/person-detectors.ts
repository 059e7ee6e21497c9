/**
 * Names of people and postal addresses. No pattern can cover all of them: these find the usual forms, and also match some words
 * that only look similar (docs/guardrails.md lists them).
 */
import { detector } from './detector.ts'

const CAPITALISED = String.raw`[A-Z\u00C0-\u00DE][a-z\u00DF-\u00FF'’]+(?:-[A-Z\u00C0-\u00DE][a-z\u00DF-\u00FF]+)?`

/** The most common given names in English-speaking, German, French, Spanish and Italian countries. */
const GIVEN_NAMES =
  'James|John|Robert|Michael|William|David|Richard|Joseph|Thomas|Charles|Christopher|Daniel|Matthew|Anthony|Mark|Donald|Steven|Paul|Andrew|Joshua|Kenneth|Kevin|Brian|George|Timothy|Ronald|Edward|Jason|Jeffrey|Ryan|Jacob|Gary|Nicholas|Eric|Jonathan|Stephen|Larry|Justin|Scott|Brandon|Benjamin|Samuel|Gregory|Alexander|Patrick|Frank|Raymond|Jack|Dennis|Peter|Henry|Mary|Patricia|Jennifer|Linda|Elizabeth|Barbara|Susan|Jessica|Sarah|Karen|Lisa|Nancy|Betty|Sandra|Margaret|Ashley|Kimberly|Emily|Donna|Michelle|Carol|Amanda|Melissa|Deborah|Stephanie|Rebecca|Sharon|Laura|Cynthia|Dorothy|Amy|Kathleen|Angela|Shirley|Emma|Brenda|Pamela|Nicole|Anna|Samantha|Katherine|Christine|Helen|Rachel|Carolyn|Janet|Maria|Olivia|Heather|Alice|Julia|Jane|Hans|Klaus|Jürgen|Wolfgang|Stefan|Andreas|Matthias|Sabine|Petra|Claudia|Jean|Pierre|Marie|Sophie|Camille|José|Juan|Carlos|Luis|Carmen|Lucia|Giovanni|Giuseppe|Marco|Francesca|Giulia'

const LEAD_MAX = 'I am called '.length

export const PERSON_NAME = detector(
  [
    String.raw`\b(?:Mr|Mrs|Ms|Miss|Mx|Dr|Prof|Sir|Herr|Frau|Monsieur|Madame|Señor|Señora)\.? ${CAPITALISED}(?: ${CAPITALISED}){0,2}`,
    String.raw`\b(?:${GIVEN_NAMES})(?: [A-Z]\.?)?(?: (?:van|von|de|der|den|di|da|la|le|du|O'))*(?: ${CAPITALISED}){1,2}`,
    String.raw`(?:[Mm]y name is|[Ii] am called|[Nn]ame:) ${CAPITALISED}(?: ${CAPITALISED}){0,2}`,
  ].join('|'),
  {
    partsOf(match) {
      // The words that introduce a name are not part of it.
      const lead = /^(?:my name is|i am called|name:) /i.exec(match.slice(0, LEAD_MAX))?.[0].length ?? 0
      return [[lead, match.length]]
    },
  },
)

const STREET_KINDS =
  'Street|St|Avenue|Ave|Road|Rd|Boulevard|Blvd|Lane|Ln|Drive|Dr|Court|Ct|Place|Pl|Square|Sq|Terrace|Ter|Way|Parkway|Pkwy|Highway|Hwy|Circle|Cir|Close|Crescent|Row|Trail|Alley|Quay'

const PLACE = String.raw`(?:,? ${CAPITALISED}(?: ${CAPITALISED}){0,2})?(?:,? [A-Z]{2})?(?:,? \d{5}(?:-\d{4})?|,? [A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2})?`

export const ADDRESS = detector(
  [
    String.raw`\b\d{1,6}[A-Za-z]? (?:[NSEW]\.? )?(?:[A-Z\u00C0-\u00DE0-9][\w\u00C0-\u00FF'’.\-]* ){1,4}(?:${STREET_KINDS})\b\.?(?:,? (?:Apt|Apartment|Suite|Ste|Unit|Flat|Floor|#)\.? ?[A-Za-z0-9\-]+)?${PLACE}`,
    String.raw`\b[Pp]\.? ?[Oo]\.? [Bb]ox \d{1,6}${PLACE}`,
    String.raw`[A-Z\u00C0-\u00DE][\w\u00C0-\u00FF\-]*(?:straße|strasse|str\.|gasse|weg|platz|allee|ufer) \d{1,4} ?[a-z]?\b(?:,? \d{5} ${CAPITALISED})?`,
    String.raw`\b\d{1,4}(?: bis| ter)?,? (?:rue|avenue|boulevard|place|chemin|impasse|quai) [A-Za-z\u00C0-\u00FF'’\-]+(?: [A-Za-z\u00C0-\u00FF'’\-]+){0,4}(?:,? \d{5} ${CAPITALISED})?`,
  ].join('|'),
)

/**
 * The at sign may be percent-encoded or an HTML entity. Letters of Latin scripts are allowed in the local part and the host,
 * because addresses may be international.
 */
export const EMAIL = detector(
  String.raw`[A-Za-z0-9\u00C0-\u024F._%+'\-]+(?:@|%40|&#64;|&#[xX]40;|&commat;)(?:[A-Za-z0-9\u00C0-\u024F](?:[A-Za-z0-9\u00C0-\u024F\-]*[A-Za-z0-9\u00C0-\u024F])?\.)+(?:[A-Za-z\u00C0-\u024F]{2,}|xn--[A-Za-z0-9\-]{2,})`,
  { endsWithPart: true },
)
