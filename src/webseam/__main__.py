from webseam.cli import main

raise SystemExit(main())
