"""What scripts/demo NAME calls: python3 -m tools.demo {targets | run} NAME [--seconds N]"""
import sys

from .command import main

sys.exit(main())
