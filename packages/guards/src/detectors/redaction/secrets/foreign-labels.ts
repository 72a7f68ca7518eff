import { eachMark, SIGN } from '../reading.ts';
import type { Family, Scan } from '../scan.ts';
import { isPassword } from './password.ts';

/** Characters before a sign in which a label is looked for. */
const LABEL_CHARS = 24;
/** Words for a password that have letters beyond ASCII, and the ones around them that have none. */
const LABEL =
  /(?:(?<![\p{L}\p{N}])(?:contraseña|contrasenya|hasło|şifre|parola|lösenord|jelszó|mật khẩu|lozinka|slaptažodis|parole|κωδικός(?: πρόσβασης)?|пароль|паролата|лозинка|гасло)|パスワード|暗証番号|密码|密碼|口令|비밀번호|암호|كلمة (?:المرور|السر)|رمز عبور|סיסמ[אה]|รหัสผ่าน|पासवर्ड)["'`»”]?\s{0,3}$/iu;
const FULL_WIDTH_COLON = '：';
const VALUE = /\s{0,3}(["'`«“„「]?)([^\s"'`»”“」,;，。、]{4,128})/y;

/** Passwords after a label in another language: `contraseña: …`, `パスワード：…`. */
export const foreignLabelFamily: Family = {
  kinds: ['password'],
  signs: [SIGN.digit | SIGN.foreign],
  find(scan) {
    const { text, reading } = scan;
    eachMark(reading, ':', (at) => findAfter(scan, at));
    eachMark(reading, '=', (at) => findAfter(scan, at));
    for (let at = text.indexOf(FULL_WIDTH_COLON); at >= 0; at = text.indexOf(FULL_WIDTH_COLON, at + 1))
      findAfter(scan, at);
  },
};

function findAfter({ text, add }: Scan, at: number): number {
  if (!LABEL.test(text.slice(Math.max(0, at - LABEL_CHARS), at))) return at;
  VALUE.lastIndex = at + 1;
  const found = VALUE.exec(text);
  const value = (found?.[2] ?? '').replace(/[.:]$/, '');
  if (found === null || !isPassword(value, found[1] !== '')) return at;
  const start = VALUE.lastIndex - (found[2] ?? '').length;
  add('password', 'assigned-password', start, start + value.length);
  return start + value.length;
}
