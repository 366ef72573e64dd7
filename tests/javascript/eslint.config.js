// Names that are not defined are tsc's to find: it knows the browser's globals (tsconfig.json, browser.d.ts).
import js from "@eslint/js";

export default [
  js.configs.recommended,
  {
    files: ["**/*.js"],
    languageOptions: { ecmaVersion: 2023, sourceType: "module" },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      "no-undef": "off",
      "no-unused-vars": ["error", { args: "all", argsIgnorePattern: "^_", ignoreRestSiblings: true }],
      curly: ["error", "multi-line"],
      eqeqeq: "error",
      "no-else-return": ["error", { allowElseIf: true }],
      "no-eval": "error",
      "no-implicit-globals": "error",
      "no-implied-eval": "error",
      "no-new-func": "error",
      "no-script-url": "error",
      "no-throw-literal": "error",
      "no-unused-expressions": ["error", { allowShortCircuit: true, allowTernary: true }],
      "no-useless-return": "error",
      "no-var": "error",
      "no-warning-comments": ["error", { terms: ["@ts-nocheck", "@ts-ignore", "@ts-expect-error"], location: "anywhere" }],
      "object-shorthand": "error",
      "prefer-const": ["error", { destructuring: "all" }],
      "prefer-template": "error",
    },
  },
  // Loaded by a plain <script>.
  { files: ["static/js/theme.js", "static/js/offline/page.js"], languageOptions: { sourceType: "script" } },
];
