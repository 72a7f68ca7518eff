// Words in front of telephone numbers, as people and forms write them in many languages.

/** In letters of Europe: the start of a word, which endings such as `number`, `nummer` and plurals may follow. */
const WORDS =
  'phone|tel|telephone|cell|cellphone|mobile|landline|fax|sms|whats\\s?app|viber|hotline|helpline|voicemail|switchboard|' +
  'telefon|telefoon|telefono|tel[eé]fono|telefone|telem[oó]vel|telepon|telepono|t[ée]l[ée]phone|t[ée]l|t[ée]l[ée]copie|telefax|telefonas|telefonska|' +
  'handy|mobil|mobiltelefon|rufnummer|fernsprecher|festnetz|portable|m[oó]vil|celular|cellulare|mobiel|mobitel|mobiil|' +
  'kom[oó]rka|kom[oó]rkowy|puhelin|matkapuhelin|s[ií]mi|fars[ií]mi|t[aā]lrunis|ponsel|điện thoại|di động|simu';
const ENDINGS =
  '(?:s|e[nrs]?|a|u|em|nr|nummer|number|numer|num|no|numeris|om|swecha)?(?:[ _-]?(?:number|no|num|nr|nummer|num[eé]ro|n[uú]mero|numer|sz[aá]m|[cč][ií]slo|numaras[ıi]|broj|n°|nº|№|#))?';
/** Letters of other scripts, where words need no blanks around them. */
const OTHERS =
  'телефон|мобильн|мобілн|сотов|факс|(?<!\\p{L})(?:тел|моб|тлф)(?!\\p{L})|τηλ[έε]φων|κινητ[όο]|(?<!\\p{L})τηλ(?!\\p{L})|' +
  'טלפון|נייד|פקס|هاتف|جوال|موبايل|محمول|تلفون|فاكس|تلفن|موبایل|همراه|फ़ोन|फोन|मोबाइल|दूरभाष|ফোন|মোবাইল|โทร|มือถือ|' +
  '电话|電話|手机|手機|座机|传真|傳真|行動電話|热线|熱線|携帯|ケータイ|ファックス|ファクス|전화|휴대폰|핸드폰|연락처|팩스';
/** Short words that mean other things too: only with a sign after them, and before a number in groups. */
const SHORT =
  'hp|h/p|cep|gsm|kom|puh|đt|sđt|tlm|tlf|tlfn|tfno|tfn|telp|mob|ph|portatile|fijo|fixe|ligne|linea|extension';

const LABEL = `(?:(?<![\\p{L}\\p{N}])(?:${WORDS})${ENDINGS}(?![\\p{L}\\p{N}])|${OTHERS})`;

/** Parts of all of these words, or a letter of another script: a cheap test before the patterns. */
export const MAY_LABEL =
  /t[eé]l|fon|phon|mob|m[oó]v|cel|fax|sms|app|viber|line|handy|ruf|fern|fest|port|kom|puh|s[ií]m|t[aā]l|pons|tho|ng|voicem|switchb|[\u0250-\uffff]/i;
/** A word for telephones, shortly before a number. Not `phone model` and the like. */
export const LABELLED = new RegExp(`${LABEL}(?:\\D(?!\\b(?:id|code|error|model)\\b)){0,25}$`, 'iu');
/** A short word, with a sign. */
export const LABELLED_SHORTLY = new RegExp(`(?<![\\p{L}\\p{N}])(?:${SHORT})\\.?\\s?[:：.)]\\s{0,2}$`, 'iu');
/** The name of a field. */
export const LABEL_FIELD = new RegExp(`${LABEL}$`, 'iu');
/** A word after a number: `0171 1234567 (mobile)`. */
export const LABELLED_AFTER = new RegExp(`^ ?[([,-]? ?${LABEL}`, 'iu');
/** A sign between label and number without a blank: `tel:030…`. */
export const LABEL_SIGN = new RegExp(`${LABEL}["'\`]?[=:]$|\\b(?:callto|wa\\.me)[:/]$`, 'iu');
