import type { InstructionRule } from './instruction-rule.ts';

const OVERRIDE = 'It asks the model to leave its instructions, in another language.';
const CONCEAL = 'It asks the model to keep something from the user, in another language.';

/** The two plainest demands in languages that many read. Letters stand without accents, as in a reading. */
export const OTHER_LANGUAGE_RULES: readonly InstructionRule[] = [
  {
    rule: 'override',
    weight: 0.9,
    why: OVERRIDE,
    all: [
      /\b(?:ignorier\w{0,3}|missacht\w{1,4}|vergiss|vergesst)(?: sie)?(?: bitte)?(?: alle[nrs]?| die| deine| ihre)*(?: (?:vorherigen?|bisherigen?|obigen?|fruheren?|vorangegangenen?)) (?:anweisung|regel|befehl|instruktion|vorgabe)/,
    ],
  },
  {
    rule: 'override',
    weight: 0.9,
    why: OVERRIDE,
    all: [
      /\b(?:ignore[zr]?|oublie[zr]?|ne (?:tiens|tenez) pas compte)(?: de)?(?: toutes?| tous)?(?: les| tes| vos)? (?:instructions?|consignes?|regles?)(?: \w{1,14})? (?:precedentes?|anterieures?|ci-dessus)|\b(?:ignor[ae]|olvid[ae]|desestim[ae])(?: todas?| todos)?(?: las| los| tus| sus)? (?:instrucciones|reglas|ordenes|indicaciones) (?:anteriores|previas)|\b(?:ignor[ae]|esque[cç]a|desconsidere)(?: todas?| todos)?(?: as| os| suas)? (?:instru[cç][oõ]es|regras|ordens) (?:anteriores|previas)|\b(?:ignora|dimentica)(?: tutte)?(?: le| tue)? (?:istruzioni|regole) precedenti/,
    ],
  },
  {
    rule: 'override',
    weight: 0.9,
    why: OVERRIDE,
    all: [
      /(?:игнорир\p{L}{1,5}|забуд\p{L}{1,3}|отмен\p{L}{1,3})(?: все)?(?: эти| свои| ваши)? (?:предыдущие|прежние|прошлые|вышеуказанные) (?:инструкци|указани|правила|команды)|(?:忽略|无视|無視|忘记|忘記|不要理会)(?:所有|全部|之前|以上|先前|前面|上述|的|一切){1,5}(?:指令|指示|说明|說明|规则|規則|提示)|(?:以前|これまで|上記|前|先)の?(?:すべて|全て)?の?(?:指示|命令|ルール)(?:を|は)(?:すべて)?無視|(?:이전|위의|앞의)(?: 모든)? (?:지시|명령|지침)\S{0,4} ?(?:를|을)? ?무시/u,
    ],
  },
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
