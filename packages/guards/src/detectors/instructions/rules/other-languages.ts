import type { InstructionRule } from './instruction-rule.ts';

const OVERRIDE = 'It asks the model to leave its instructions, in another language.';
const CONCEAL = 'It asks the model to keep something from the user, in another language.';

/**
 * An order to leave what was said before, in languages that many read: what the model shall do, with what, and which.
 * Letters stand without accents, as in a reading.
 */
const LEAVING: readonly (readonly [verb: RegExp, what: RegExp, which: RegExp])[] = [
  [
    /\b(?:ignorier|missacht|vergiss|vergesst|vergessen sie)/,
    /\b(?:anweisung|regeln|befehle|instruktion|vorgabe|alles,? was)/,
    /\b(?:vorherig|bisherig|obig|fruher|vorangegangen|vorig|gesagt|gelernt|deine|von oben|alle (?:anweisung|instruktion|vorgabe))/,
  ],
  [
    /\b(?:ignore[rz]?|oublie[rz]?|oublie[- ]|tiens pas compte|tenez pas compte)\b/,
    /\b(?:instruction|consigne|regles|directives|tout ce que)/,
    /\b(?:precedent|anterieur|ci-dessus|(?:vos|tes|dite?s?|appris|recue?s?)\b)/,
  ],
  [
    /\b(?:ignor(?:a|e|ar|en)|olvid(?:a|e|ar|ate|ese|en)|desestim(?:a|e|ar)|omit(?:e|a|ir))\b/,
    /\b(?:instruccion|reglas|ordenes|indicacion|directrices|todo lo que)/,
    /\b(?:anterior|previ[ao]s|tus|dicho|dijeron|que te dicen)/,
  ],
  [
    /\b(?:ignor(?:a|e|ar|em)|esquec(?:a|e|er)|desconsider(?:a|e|ar))\b/,
    /\b(?:instruc(?:oes|ao)|regras|ordens|diretrizes|tudo o que)/,
    /\b(?:anterior|previas|suas|tuas|dito|disseram)/,
  ],
  [
    /\b(?:ignora|ignorate|ignorare|dimentica|dimenticate|trascura)\b/,
    /\b(?:istruzion|regole|ordini|direttive|tutto cio che|tutto quello che)/,
    /\b(?:precedent|sopra|tue|detto|ricevut)/,
  ],
  [
    /\b(?:negeer|vergeet)\b/,
    /\b(?:instructies|regels|opdrachten|aanwijzingen)/,
    /\b(?:vorige|eerdere|voorgaande|bovenstaande)/,
  ],
  [
    /\b(?:zignoruj|ignoruj|zapomnij|pomin)/,
    /\b(?:instrukcj|polecen|zasad|wytyczn|wszystk)/,
    /\b(?:poprzedni|wczesniejsz|powyzsz)/,
  ],
  [/\b(?:yok say|gormezden gel|unut|dikkate alma)/, /\b(?:talimat|kural|yonerge|komut)/, /\b(?:onceki|yukaridaki)/],
  [/\b(?:abaikan|lupakan)/, /\b(?:instruksi|perintah|aturan|arahan)/, /\b(?:sebelumnya|di atas|terdahulu)/],
  [/\b(?:bo qua|quen|phot lo)\b/, /\b(?:huong dan|chi (?:dan|thi)|lenh|quy tac)/, /\b(?:truoc|o tren|di\b)/],
  [
    /(?:игнорир|забуд|отмен|проигнор)/,
    /(?:инструкц|указани|правила|команд|вс[её],? что)/,
    /(?:предыдущ|прежни|прошл|вышеуказ|выше|все (?:указан|инструкц|команд)|говорил|сказал)/,
  ],
  [
    /(?:忽略|无视|無視|忘记|忘記|不要理会)/,
    /(?:指令|指示|说明|說明|规则|規則|提示|内容)/,
    /(?:之前|以上|先前|前面|上述|所有)/,
  ],
  [/(?:無視|忘れ)/, /(?:指示|命令|ルール|プロンプト)/, /(?:以前|これまで|上記|前の|先の|すべて)/],
  [/(?:무시|잊어|잊으)/, /(?:지시|명령|지침|규칙)/, /(?:이전|위의|앞의|모든)/],
  [/(?:अनदेखा|भूल|अवहेलना|नज़रअंदाज|इग्नोर)/, /(?:निर्देश|आदेश|नियम|बताया)/, /(?:पिछले|पूर्व|पहले|सभी|आपको)/],
  [/(?:تجاهل|انس|تغاض|تغاضى)/, /(?:التعليمات|تعليمات|تعليماتك|الأوامر|القواعد)/, /(?:السابقة|قبل|أعلاه|جميع|كل)/],
  [
    /\b(?:ignorer(?:a|e)?|bortse fran|se bort fra|glom|glem)\b/,
    /\b(?:instruktion|instruksjon|anvisning|regler|ordre|befalning)/,
    /\b(?:tidigare|tidligere|foregaende|forrige|ovenstaende|ovan|alla|alle)\b/,
  ],
  [
    /\b(?:ohita|unohda|jata huomiotta|ala valita)\b/,
    /\b(?:ohje|maarays|maarayks|kehot|kehotteet|saanto|saanno)/,
    /\b(?:aiem|aikaisem|edelli|edella|ylla|kaikki)/,
  ],
  [
    /\b(?:ignoruj|ignorujte|zapomen|zabudni|prehlizej|nevsimej si)/,
    /\b(?:pokyn|instrukc|prikaz|pravidl)/,
    /\b(?:predchoz|predosl|predchadz|drivej|vyse|vsech)/,
  ],
  [
    /\b(?:ignor(?:a|ati|i)|uita(?:ti)?|nesocoti(?:ti)?)\b/,
    /\b(?:instructiun|regul|ordinele|comenzi|indicatii)/,
    /\b(?:anterioar|preceden|de mai sus|toate)/,
  ],
  [
    /\b(?:hagyd figyelmen kivul|hagyja figyelmen kivul|felejtsd el|ignorald)\b/,
    /\b(?:utasit|szabaly|parancs)/,
    /\b(?:korabbi|elozo|fenti|osszes)/,
  ],
  [
    /\b(?:ignorir(?:aj|ajte)|ignoriraj(?:te)?|zanemari(?:te)?|zaboravi(?:te)?)\b/,
    /\b(?:uput|instrukcij|naredb|pravil)/,
    /\b(?:prethodn|ranij|gore|sve)/,
  ],
  [/\b(?:huwag pansinin|kalimutan|balewalain)\b/, /\b(?:tagubilin|utos|patakaran)/, /\b(?:nakaraan|nauna|lahat)/],
  [
    /(?:ігнору|проігнору|забудь|відкинь|знехту)/,
    /(?:інструкц|вказівк|правила|команд)/,
    /(?:попередн|вище|раніше|усі|всі)/,
  ],
  [/(?:αγν[οό]ησ|ξ[εέ]χασ|παρ[αά]βλεψ)/, /(?:οδηγ[ιί]|εντολ|καν[οό]ν)/, /(?:προηγο[υύ]μεν|παραπ[αά]νω|όλες|όλα)/],
  [/(?:ละเว้น|เพิกเฉย|ลืม|ไม่ต้องสนใจ)/, /(?:สั่ง|แนะน|กฎ)/, /(?:ก่อนหน้า|ข้างต้น|ทั้งหมด|เดิม)/],
  [/(?:התעלמ|התעלם|תתעלמ|שכח)/, /(?:הוראות|הנחיות|הכללים|פקודות)/, /(?:הקודמ|לעיל|כל)/],
  [/(?:نادیده بگیر|فراموش کن)/, /(?:دستور|قوانین|قواعد)/, /(?:قبلی|پیشین|بالا|تمام|همه)/],
];

/** The two plainest demands in other languages. */
export const OTHER_LANGUAGE_RULES: readonly InstructionRule[] = [
  ...LEAVING.map((all): InstructionRule => ({ rule: 'override', weight: 0.9, why: OVERRIDE, all })),
  {
    rule: 'concealment',
    weight: 0.85,
    why: CONCEAL,
    all: [
      /\b(?:sag|sage|sagen sie|erzahl\w{0,2}|verrat\w{0,2}|teil\w{0,2}|erwahn\w{0,2})\b[^.]{0,40}\b(?:nutzer|benutzer|anwender)\w{0,2}\b[^.]{0,30}\b(?:nicht|nichts|niemals)\b|\b(?:nicht|niemals|nichts)\b[^.]{0,30}\b(?:nutzer|benutzer|anwender)\w{0,2}\b[^.]{0,30}\b(?:sagen|mitteilen|erwahnen|verraten)\b|\bne\b[^.]{0,20}\b(?:dis|dites|informe[zr]?|mentionne[zr]?|parle[zr]?|revele[zr]?)\b[^.]{0,20}\b(?:pas|jamais|rien)\b[^.]{0,30}\butilisateur|\bno (?:se lo |le |lo )?(?:digas?|menciones?|informes?|reveles?|cuentes?)\b[^.]{0,30}\busuarios?\b|\bnao (?:diga|mencione|informe|revele|conte)\b[^.]{0,30}\busuarios?\b|\bnon (?:dire|menzionare|informare|rivelare)\b[^.]{0,30}\butent[ei]\b/,
    ],
  },
  {
    rule: 'concealment',
    weight: 0.85,
    why: CONCEAL,
    all: [
      /не (?:сообщ\p{L}{1,4}|говор\p{L}{1,4}|упомин\p{L}{1,4}|рассказыв\p{L}{1,4}|раскрыв\p{L}{1,4})[^.]{0,40}пользовател|(?:不要|别|勿|請勿|请勿|不得|切勿)(?:告诉|告訴|告知|通知|提及|透露|让|向)[^。]{0,12}(?:用户|用戶|使用者)|(?:ユーザー|利用者)に[^。]{0,12}(?:言わない|伝えない|知らせない|教えない|通知しない)|사용자에게[^.]{0,12}(?:말하지|알리지|언급하지)/u,
    ],
  },
];
